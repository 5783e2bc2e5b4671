import { durationText } from '../../format/duration';
import { countText, numberText } from '../../format/number';

const PERIODS: Record<number, { each: string; now: string }> = {
  60: { each: 'minute', now: 'this minute' },
  86_400: { each: 'day', now: 'today (UTC)' },
};

/** Returns `RateLimit` in words, with the limits of `RateLimit-Policy`. */
export function rateLimitLeft(value: string, policy: string): string {
  const policies = new Map(parseWindows(policy).map(({ name, parameters }) => [name, parameters]));
  const windows = parseWindows(value).map(({ name, parameters: { r = 0, t = 0 } }) => {
    const { q, w = 0 } = policies.get(name) ?? {};
    const limit = q === undefined ? '' : ` of ${numberText(q)}`;
    const period = PERIODS[w]?.now ?? `in the window “${name}”`;
    return `${numberText(r)}${limit} left ${period}, full again in ${durationText(t * 1000)}.`;
  });
  return windows.join(' ');
}

/** Returns `RateLimit-Policy` in words. */
export function rateLimitPolicy(value: string): string {
  const windows = parseWindows(value).map(
    ({ parameters: { q = 0, w = 0 } }) =>
      `${countText(q, 'request')} per ${PERIODS[w]?.each ?? durationText(w * 1000)}`,
  );
  return `The limit is ${windows.join(' and ')}.`;
}

const RELATIONS: Record<string, string> = {
  first: 'The first page',
  next: 'The next page',
  prev: 'The previous page',
  'successor-version': 'What replaces the operation',
  deprecation: 'About the deprecation',
};

/** Returns each link of `Link` in words. */
export function linkTargets(value: string): string {
  const links = [...value.matchAll(/<([^>]*)>((?:\s*;\s*[a-z]+="[^"]*")*)/gi)];
  const texts = links.map(([, target = '', parameters = '']) => {
    const relation = /rel="([^"]*)"/i.exec(parameters)?.[1] ?? '';
    return `${RELATIONS[relation] ?? `A related resource (${relation})`}: ${target}`;
  });
  return texts.join(' · ');
}

const STABILITIES: Record<string, string> = {
  beta: 'The operation may change with one month of notice.',
  experimental: 'The operation may change or be removed without notice.',
};

/** Returns `X-Stability` in words. */
export function stability(value: string): string {
  return STABILITIES[value] ?? `The operation is ${value}.`;
}

/** Returns `WWW-Authenticate` in words. */
export function challenge(value: string): string {
  const description = /error_description="([^"]*)"/.exec(value)?.[1];
  return description === undefined
    ? 'The request needs an API key, as Authorization: Bearer and the key.'
    : `The API key was not accepted: ${description}.`;
}

const DIRECTIVES: Record<string, string> = {
  'no-store': 'No cache may store the response.',
  'no-cache': 'A cache asks the service before each reuse.',
  private: 'Only a private cache, such as a browser’s, may store the response.',
  public: 'Any cache may store the response.',
  immutable: 'The response never changes.',
};

/** Returns each directive of `Cache-Control` in words. */
export function cacheControl(value: string): string {
  const texts = value.split(/\s*,\s*/).map((directive) => {
    const maxAge = /^max-age=(\d+)$/.exec(directive)?.[1];
    return maxAge === undefined
      ? (DIRECTIVES[directive] ?? `${directive}.`)
      : `The response is fresh for ${secondsText(maxAge)}.`;
  });
  return texts.join(' ');
}

/** Returns the time of an HTTP date, or of `@` and Unix seconds; the value itself if it is neither. */
export function parseTime(value: string): Date | string {
  const time = new Date(/^@-?\d+$/.test(value) ? Number(value.slice(1)) * 1000 : Date.parse(value));
  return Number.isNaN(time.getTime()) ? value : time;
}

/** Returns whole seconds as a duration; the value itself if it is no number. */
export function secondsText(value: string): string {
  return /^\d+$/.test(value) ? durationText(Number(value) * 1000) : value;
}

/** Reads the windows of `RateLimit` or `RateLimit-Policy`: `"minute";r=59;t=31, "day";r=959;t=52310`. */
function parseWindows(value: string): { name: string; parameters: Record<string, number> }[] {
  const items = value.matchAll(/"([^"]*)"((?:\s*;\s*[a-z]+=\d+)*)/g);
  return [...items].map(([, name = '', parameters = '']) => {
    const pairs = [...parameters.matchAll(/([a-z]+)=(\d+)/g)];
    return {
      name,
      parameters: Object.fromEntries(pairs.map(([, key = '', digits]) => [key, Number(digits)])),
    };
  });
}
