import { TextLink } from '../layout/text-link';

const ENDING = 8;

/** Shows `key:ID`, `plan:NAME` or `webhook:ID` as a link to it. */
export function Subject({ subject }: { subject: string }) {
  const [, kind, name = ''] = /^(key|plan|webhook):(.*)$/.exec(subject) ?? [];
  if (kind === 'plan') {
    return (
      <TextLink to="/admin/plans" search={{ plan: name }} inherit>
        plan {name}
      </TextLink>
    );
  }
  return kind === 'key' || kind === 'webhook' ? (
    <TextLink to={`/admin/${kind}s/$id`} params={{ id: name }} inherit className="one-line">
      {kind} …{name.slice(-ENDING)}
    </TextLink>
  ) : (
    subject
  );
}
