import { loadModule, parsePlPgSQLSync, parseSync } from 'libpg-query';

/** A change that the last release, which serves beside the new one, may not survive. */
interface Step {
  /** What an exception names, such as `DROP COLUMN pets.label`. */
  name: string;
  /** The line of its statement, from 1. */
  line: number;
}

/** Parts of the syntax tree of PostgreSQL's own parser. */
type Node = Record<string, unknown>;

/** Statements that add something, change data, or concern this session only. */
const HARMLESS = new Set([
  'CreateStmt',
  'CreateTableAsStmt',
  'CreateSeqStmt',
  'CreateEnumStmt',
  'CreateDomainStmt',
  'ViewStmt',
  'CreateFunctionStmt',
  'CreateTrigStmt',
  'CreateExtensionStmt',
  'CreateSchemaStmt',
  'CreateStatsStmt',
  'InsertStmt',
  'UpdateStmt',
  'DeleteStmt',
  'SelectStmt',
  'CommentStmt',
  'LockStmt',
  'VariableSetStmt',
  'AlterSeqStmt',
  'CompositeTypeStmt',
  'DefineStmt',
]);
/** Parts of ALTER TABLE that take nothing from a release. */
const HARMLESS_CHANGES = new Set([
  'AT_ValidateConstraint',
  'AT_SetStatistics',
  'AT_SetStorage',
  'AT_SetCompression',
  'AT_SetOptions',
  'AT_ResetOptions',
  'AT_SetRelOptions',
  'AT_ResetRelOptions',
  'AT_ReplicaIdentity',
  'AT_EnableTrig',
]);
/** A serial column has a default. */
const SERIAL = /^(small|big)?serial\d?$/;
const EXCEPTION = /^-- not-additive: ([^:\n]+): *(\S.*)$/gm;
const BEFORE_STATEMENT = /^(?:\s+|--[^\n]*\n|\/\*[^]*?\*\/)*/;

/** Loads the parser. Must be called once before the others. */
export const loadParser = loadModule;

/** Returns what the comments of a migration except, with the reasons: `-- not-additive: WHAT: reason`. */
export function readExceptions(sql: string): Map<string, string> {
  return new Map(Array.from(sql.matchAll(EXCEPTION), ([, name = '', reason = '']) => [name.trim(), reason]));
}

/**
 * Returns the steps of a migration that take something from the last release, or that reject what it writes.
 * What that release does not have may change in any way.
 *
 * @throws the parser's error if the migration is no SQL.
 */
export function findTakingSteps(sql: string, released: Released): Step[] {
  const bytes = Buffer.from(sql);
  const { stmts = [] } = parseSync(sql) as { stmts?: { stmt: Node; stmt_location?: number }[] };
  const context = { released, filled: filledColumns(stmts) };
  return stmts.flatMap(({ stmt, stmt_location: location = 0 }) => {
    const [space = ''] = BEFORE_STATEMENT.exec(bytes.subarray(location).toString()) ?? [];
    const before = bytes.subarray(0, location).toString() + space;
    const line = before.split('\n').length;
    return stepsOf(stmt, context).map((name) => ({ name, line }));
  });
}

/** What the last release has in its database. */
export class Released {
  private readonly uniqueIndexes = new Set<string>();
  private readonly checks = new Set<string>();

  /**
   * @param columns the types of its columns, by names such as `pets.label`.
   * @param migrations the SQL of its migrations, oldest first.
   */
  constructor(
    private readonly columns: Record<string, string>,
    migrations: string[],
  ) {
    for (const sql of migrations) {
      const found = find(parseSync(sql), ['IndexStmt', 'Constraint', 'RenameStmt']);
      for (const [kind, { unique, idxname, contype, conname, relation, newname }] of found) {
        if (kind === 'IndexStmt' && unique === true) {
          this.uniqueIndexes.add(asText(idxname));
        } else if (contype === 'CONSTR_CHECK') {
          this.checks.add(asText(conname));
        } else if (kind === 'RenameStmt' && this.uniqueIndexes.has(relationName(relation))) {
          this.uniqueIndexes.add(asText(newname));
        }
      }
    }
  }

  hasTable(table: string): boolean {
    return Object.keys(this.columns).some((column) => column.startsWith(`${table}.`));
  }

  hasColumn(table: string, column: string): boolean {
    return this.columns[`${table}.${column}`] !== undefined;
  }

  hasType(type: string): boolean {
    return Object.values(this.columns).some((each) => each.split(/\W/)[0] === type);
  }

  /** `ON CONFLICT` needs such an index. */
  hasUniqueIndex(index: string): boolean {
    return this.uniqueIndexes.has(index);
  }

  /** Without it, rows may have further values. */
  hasCheck(name: string): boolean {
    return this.checks.has(name);
  }
}

/** What a statement is judged by. */
interface Context {
  released: Released;
  /** The columns for which the migration gives rows a value, such as `pets.label`. */
  filled: Set<string>;
}

/** Returns the names of the steps of a statement. */
function stepsOf(statement: Node, context: Context): string[] {
  const { released } = context;
  const [[kind, node] = ['', {}]] = Object.entries(statement) as [string, Node][];
  switch (kind) {
    case 'AlterTableStmt':
      return alterTable(node, context);
    case 'RenameStmt':
      return rename(node, released);
    case 'DropStmt':
      return drop(node, released);
    case 'IndexStmt':
      return uniqueIndex(node, released);
    case 'AlterEnumStmt': {
      const type = nameOf(node['typeName']);
      // The last release cannot read a value that it does not know.
      return released.hasType(type) ? [`ALTER TYPE ${type}`] : [];
    }
    case 'DoStmt':
      return block(node, context);
    case 'GrantStmt':
      return node['is_grant'] === true ? [] : ['REVOKE'];
    default:
      return HARMLESS.has(kind) ? [] : [words(kind.replace(/Stmt$/, ''))];
  }
}

function alterTable({ relation, cmds = [] }: Node, { released, filled }: Context): string[] {
  const table = relationName(relation);
  if (!released.hasTable(table)) {
    return [];
  }
  return (cmds as { AlterTableCmd: Node }[]).flatMap(({ AlterTableCmd: { subtype, name, def } }) => {
    const step = `${words(asText(subtype).slice('AT_'.length))} ${table}`;
    switch (subtype) {
      case 'AT_AddColumn': {
        const { colname, ...column } = (def as { ColumnDef: Node }).ColumnDef;
        return needsValue(column) ? [`${step}.${asText(colname)}`] : [];
      }
      case 'AT_AddConstraint':
        return constraint((def as { Constraint: Node }).Constraint, table, released);
      case 'AT_ColumnDefault':
        return def === undefined && released.hasColumn(table, asText(name))
          ? [`DROP DEFAULT ${table}.${asText(name)}`]
          : [];
      case 'AT_SetNotNull':
        // The last release inserts rows without a column that it does not have.
        return !released.hasColumn(table, asText(name)) && filled.has(`${table}.${asText(name)}`)
          ? []
          : [`${step}.${asText(name)}`];
      case 'AT_DropConstraint':
        return released.hasCheck(asText(name)) ? [] : [`${step}.${asText(name)}`];
      default: {
        const isOfNewColumn = name !== undefined && !released.hasColumn(table, asText(name));
        return isOfNewColumn || HARMLESS_CHANGES.has(asText(subtype))
          ? []
          : [name === undefined ? step : `${step}.${asText(name)}`];
      }
    }
  });
}

/** Returns the columns of a migration that have a default. */
function filledColumns(statements: unknown): Set<string> {
  const tables = find(statements, ['AlterTableStmt']);
  const names = tables.flatMap(([, { relation, cmds = [] }]) =>
    (cmds as { AlterTableCmd: Node }[]).flatMap(({ AlterTableCmd: { subtype, name, def } }) => {
      const { ColumnDef } = (def ?? {}) as { ColumnDef?: Node };
      const isAdded = subtype === 'AT_AddColumn' && ColumnDef !== undefined && hasDefault(ColumnDef);
      const column = isAdded ? ColumnDef['colname'] : name;
      const isFilled = isAdded || (subtype === 'AT_ColumnDefault' && def !== undefined && !isNull(def));
      return isFilled ? [`${relationName(relation)}.${asText(column)}`] : [];
    }),
  );
  return new Set(names);
}

/** Returns whether a new column rejects the rows of the last release, which do not name it. */
function needsValue(column: Node): boolean {
  return constraintsOf(column).some(rejectsNull) && !hasDefault(column);
}

function hasDefault(column: Node): boolean {
  const isSerial = SERIAL.test(nameOf((column['typeName'] as Node)['names']));
  const gives = ({ contype, raw_expr: value }: Node) =>
    contype === 'CONSTR_IDENTITY' ||
    contype === 'CONSTR_GENERATED' ||
    (contype === 'CONSTR_DEFAULT' && !isNull(value));
  return isSerial || constraintsOf(column).some(gives);
}

function constraintsOf({ constraints = [] }: Node): Node[] {
  return (constraints as { Constraint: Node }[]).map(({ Constraint }) => Constraint);
}

function rejectsNull({ contype }: Node): boolean {
  return contype === 'CONSTR_NOTNULL' || contype === 'CONSTR_PRIMARY';
}

const isNull = (expression: unknown) => (expression as { A_Const?: Node }).A_Const?.['isnull'] === true;

/** A constraint rejects rows of the last release, unless it is of columns that the release never writes. */
function constraint(node: Node, table: string, released: Released): string[] {
  const columns = [...namesIn(node['keys']), ...namesIn(node['fk_attrs']), ...columnsIn(node['raw_expr'])];
  const isOfNew = columns.length > 0 && columns.every((column) => !released.hasColumn(table, column));
  return isOfNew && !rejectsNull(node)
    ? []
    : [`ADD CONSTRAINT ${table}.${asText(node['conname'] ?? columns.join('_'))}`];
}

function uniqueIndex({ unique, relation, indexParams = [], idxname }: Node, released: Released): string[] {
  const table = relationName(relation);
  const columns = (indexParams as { IndexElem: Node }[]).flatMap(({ IndexElem: { name, expr } }) =>
    name === undefined ? columnsIn(expr) : [asText(name)],
  );
  const isOfNew = columns.length > 0 && columns.every((column) => !released.hasColumn(table, column));
  return unique !== true || isOfNew || !released.hasTable(table)
    ? []
    : [`CREATE UNIQUE INDEX ${asText(idxname ?? columns.join('_'))}`];
}

function rename({ renameType, relation, subname, object }: Node, released: Released): string[] {
  const table =
    relation === undefined
      ? nameOf((object as { List?: Node })?.List?.['items'] ?? object)
      : relationName(relation);
  const kind = words(asText(renameType).slice('OBJECT_'.length));
  if (renameType === 'OBJECT_INDEX') {
    return [];
  }
  if (renameType === 'OBJECT_COLUMN') {
    return released.hasColumn(table, asText(subname)) ? [`RENAME COLUMN ${table}.${asText(subname)}`] : [];
  }
  if (renameType === 'OBJECT_TABLE') {
    return released.hasTable(table) ? [`RENAME TABLE ${table}`] : [];
  }
  return [`RENAME ${kind} ${subname === undefined ? table : `${table}.${asText(subname)}`}`];
}

function drop({ removeType, objects = [] }: Node, released: Released): string[] {
  const kind = asText(removeType).slice('OBJECT_'.length);
  return (objects as Node[]).flatMap((object) => {
    const name = objectName(object, kind === 'TRIGGER' || kind === 'POLICY' || kind === 'RULE');
    const isNeeded: Record<string, boolean> = {
      TABLE: released.hasTable(name),
      TYPE: released.hasType(name),
      INDEX: released.hasUniqueIndex(name),
      STATISTIC_EXT: false,
    };
    return isNeeded[kind] === false ? [] : [`DROP ${words(kind)} ${name}`];
  });
}

/** Returns the steps of a DO block; an EXECUTE in it cannot be judged. */
function block(node: Node, context: Context): string[] {
  const [body = ''] = (node['args'] as { DefElem: Node }[])
    .filter(({ DefElem }) => DefElem['defname'] === 'as')
    .map(({ DefElem }) => (DefElem['arg'] as { String: { sval: string } }).String.sval);
  const quote = '$additive$';
  const found = find(parsePlPgSQLSync(`DO ${quote}${body}${quote}`), [
    'PLpgSQL_stmt_execsql',
    'PLpgSQL_stmt_dynexecute',
  ]);
  return found.flatMap(([kind, statement]) => {
    if (kind === 'PLpgSQL_stmt_dynexecute') {
      return ['EXECUTE'];
    }
    const { query } = (statement['sqlstmt'] as { PLpgSQL_expr: { query: string } }).PLpgSQL_expr;
    const { stmts = [] } = parseSync(query) as { stmts?: { stmt: Node }[] };
    return stmts.flatMap(({ stmt }) => stepsOf(stmt, context));
  });
}

/** Returns all nodes of these kinds, at any depth. */
function find(tree: unknown, kinds: string[]): [kind: string, node: Node][] {
  return typeof tree !== 'object' || tree === null
    ? []
    : Object.entries(tree).flatMap(([kind, node]) => [
        ...(kinds.includes(kind) ? [[kind, node] as [string, Node]] : []),
        ...find(node, kinds),
      ]);
}

function columnsIn(expression: unknown): string[] {
  return find(expression, ['ColumnRef']).map(([, { fields }]) => namesIn(fields).at(-1) ?? '');
}

function namesIn(list: unknown): string[] {
  return ((list ?? []) as { String?: { sval: string } }[]).flatMap(({ String: each }) => each?.sval ?? []);
}

/** The last of the names is its own; a schema may stand before it. */
const nameOf = (list: unknown) => namesIn(list).at(-1) ?? '';
/** Names in the tree are texts. */
const asText = (value: unknown) => value as string;
const relationName = (relation: unknown) => String((relation as Node)['relname']);

/** Returns the name of what is dropped; that of a trigger with its table's. */
function objectName(object: Node, isOfTable: boolean): string {
  const { List, TypeName, ObjectWithArgs } = object as Record<string, Node | undefined>;
  const names = namesIn(List?.['items'] ?? TypeName?.['names'] ?? ObjectWithArgs?.['objname'] ?? [object]);
  return names.slice(isOfTable ? -2 : -1).join('.');
}

/** Returns `SET NOT NULL` for `SetNotNull`. */
function words(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])|_/g, ' ').toUpperCase();
}
