import type { Fault } from './fault.js';

/** Public names that no document contains: of settings, commands, metrics and so on. */
export interface Names {
  [key: string]: Names | readonly string[] | string | number;
}

const UNTIL_NEXT_MAJOR = 'A later version of the same major version keeps it: bring it back.';
/** What a user may give, by name: settings, arguments and options. */
const FORMS = 'forms';
/** The only values of some of these, by name. */
const CHOICES = 'choices';
/** Lists of what a user must give: it may shrink, and must not grow. */
const REQUIRED = 'required';

/** Returns which released names are gone or have another meaning. Further names are no fault. */
export function compareNames(released: Names, current: Names, ...parents: string[]): Fault[] {
  return Object.entries(released).flatMap(([name, before]) => {
    const path = [...parents, name];
    const place = path.join(' → ');
    const after = current[name];
    if (after === undefined) {
      return [{ place, problem: `It is gone. ${UNTIL_NEXT_MAJOR}` }];
    }
    if (isList(before) && isList(after)) {
      return name === REQUIRED ? compareRequired(before, after, place) : compareLists(before, after, place);
    }
    if (isTree(before) && isTree(after)) {
      if (name === CHOICES) {
        return compareChoices(before, after, Object.keys(released[FORMS] ?? {}), place);
      }
      return compareNames(before, after, ...path);
    }
    const [was, is] = [JSON.stringify(before), JSON.stringify(after)];
    return was === is ? [] : [{ place, problem: `It was ${was}, and is ${is}. Keep what was released.` }];
  });
}

function compareLists(before: readonly string[], after: readonly string[], place: string): Fault[] {
  return before
    .filter((each) => !after.includes(each))
    .map((each) => ({ place: `${place} → ${each}`, problem: `It is gone. ${UNTIL_NEXT_MAJOR}` }));
}

/** What had a few values may have any now, but not the other way round. */
function compareChoices(before: Names, after: Names, known: string[], place: string): Fault[] {
  return known.flatMap((name) => {
    const [was, is] = [before[name], after[name]] as (readonly string[] | undefined)[];
    const at = `${place} → ${name}`;
    if (is === undefined) {
      return [];
    }
    return was === undefined
      ? [{ place: at, problem: 'It accepted any value, and accepts a few now. Accept what was accepted.' }]
      : compareLists(was, is, at);
  });
}

function compareRequired(before: readonly string[], after: readonly string[], place: string): Fault[] {
  return after
    .filter((each) => !before.includes(each))
    .map((each) => ({
      place: `${place} → ${each}`,
      problem: 'It is required now, so calls that worked fail. Make it optional, with a default.',
    }));
}

const isList = (value: Names[string]): value is readonly string[] => Array.isArray(value);
const isTree = (value: Names[string]): value is Names => typeof value === 'object' && !isList(value);
