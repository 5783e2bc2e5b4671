import { TextLink } from '../layout/text-link';

const ENDING = 8;

/** Shows `key:ID` or `plan:NAME` as a link to it. */
export function Subject({ subject }: { subject: string }) {
  const [, kind, name = ''] = /^(key|plan):(.*)$/.exec(subject) ?? [];
  if (kind === 'plan') {
    return (
      <TextLink to="/admin/plans" search={{ plan: name }} inherit>
        plan {name}
      </TextLink>
    );
  }
  return kind === 'key' ? (
    <TextLink to="/admin/keys/$id" params={{ id: name }} inherit style={{ whiteSpace: 'nowrap' }}>
      key …{name.slice(-ENDING)}
    </TextLink>
  ) : (
    subject
  );
}
