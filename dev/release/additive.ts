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
/** What a new column may have; its default is checked with the constraints that need one. */
const HARMLESS_CONSTRAINTS = /^CONSTR_(NULL|DEFAULT|IDENTITY|GENERATED|ATTR_\w+)$/;
/** What contains SQL in PL/pgSQL, and what contains a text that is run as SQL. */
const STATIC = ['PLpgSQL_stmt_execsql', 'PLpgSQL_stmt_fors', 'PLpgSQL_stmt_open'];
const DYNAMIC = ['PLpgSQL_stmt_dynexecute', 'PLpgSQL_stmt_dynfors', 'dynquery'];
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

/** A statement of a migration, with the line on which it stands or its block begins. */
export interface Statement {
  statement: Node;
  line: number;
}

/**
 * Returns the statements of a migration, and those in its `DO` blocks instead of the blocks.
 *
 * @throws the parser's error if the migration is no SQL.
 */
export function parseMigration(sql: string): Statement[] {
  const bytes = Buffer.from(sql);
  return parse(sql).flatMap(({ stmt, stmt_location: location = 0 }) => {
    const [space = ''] = BEFORE_STATEMENT.exec(bytes.subarray(location).toString()) ?? [];
    const before = bytes.subarray(0, location).toString() + space;
    const line = before.split('\n').length;
    const { DoStmt } = stmt as Record<string, Node | undefined>;
    const statements = DoStmt === undefined ? [stmt] : statementsIn(DoStmt);
    return statements.map((statement) => ({ statement, line }));
  });
}

/**
 * Returns the steps of a new migration that take something from the last release, or that reject what it
 * writes. What that release does not have may change freely.
 *
 * @param all the statements of all new migrations, oldest first.
 */
export function findNonAdditiveSteps(
  migration: Statement[],
  released: ReleasedDatabase,
  all: Statement[] = migration,
): Step[] {
  const statements = all.map(({ statement }) => statement);
  const context = { released, ...readColumns(statements), created: new Set(statements.map(createdBy)) };
  return migration.flatMap(({ statement, line }) =>
    stepsOf(statement, context).map((name) => ({ name, line })),
  );
}

/** What the last release has in its database. */
export class ReleasedDatabase {
  private readonly uniqueIndexes = new Set<string>();
  private readonly checks = new Set<string>();
  private readonly objects: Set<string>;

  /**
   * @param columns the types of its columns, by names such as `pets.label`.
   * @param migrations the statements of its migrations, oldest first.
   */
  constructor(
    private readonly columns: Record<string, string>,
    migrations: Statement[],
  ) {
    const statements = migrations.map(({ statement }) => statement);
    this.objects = new Set(statements.map(createdBy));
    for (const statement of statements) {
      const found = find(statement, ['IndexStmt', 'Constraint', 'RenameStmt']);
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

  /** Whether its migrations create it, such as `FUNCTION f`. */
  creates(object: string): boolean {
    return this.objects.has(object);
  }

  /** Without it, rows may have further values. */
  hasCheck(name: string): boolean {
    return this.checks.has(name);
  }
}

/** What all new migrations do to columns, such as `pets.label`. */
interface Columns {
  /** Rows without a value get one. */
  filled: Set<string>;
  /** Rows without a value get the same one each, or one that depends on others. */
  repeated: Set<string>;
  /** Rows need a value. */
  needed: Set<string>;
}

/** What a statement is checked against. */
interface Context extends Columns {
  released: ReleasedDatabase;
  /** What new migrations create, such as `FUNCTION f`. */
  created: Set<string>;
}

/** Returns the names of the steps of a statement. */
function stepsOf(statement: Node, context: Context): string[] {
  const { released } = context;
  const [kind, node] = kindOf(statement);
  switch (kind) {
    case 'AlterTableStmt':
      return alterTable(node, context);
    case 'RenameStmt':
      return rename(node, context);
    case 'DropStmt':
      return drop(node, context);
    case 'IndexStmt':
      return uniqueIndex(node, context);
    case 'DeleteStmt': {
      const table = relationName(node['relation']);
      return node['whereClause'] === undefined && released.hasTable(table) ? [`DELETE ${table}`] : [];
    }
    case 'TruncateStmt':
      return (node['relations'] as { RangeVar: Node }[])
        .map(({ RangeVar }) => relationName(RangeVar))
        .filter((table) => released.hasTable(table))
        .map((table) => `TRUNCATE ${table}`);
    case 'AlterEnumStmt': {
      const type = nameOf(node['typeName']);
      // The last release cannot read a value that it does not know.
      return released.hasType(type) ? [`ALTER TYPE ${type}`] : [];
    }
    case 'VacuumStmt':
      return node['is_vacuumcmd'] === true ? ['VACUUM'] : [];
    case 'GrantStmt':
      return node['is_grant'] === true ? [] : ['REVOKE'];
    default:
      return HARMLESS.has(kind) ? [] : [words(kind.replace(/Stmt$/, ''))];
  }
}

const kindOf = (statement: Node) => (Object.entries(statement)[0] ?? ['', {}]) as [kind: string, node: Node];

/** Returns what a statement creates, such as `FUNCTION f`; a table has the names of its columns instead. */
function createdBy(statement: Node): string {
  const [kind, node] = kindOf(statement);
  switch (kind) {
    case 'CreateFunctionStmt':
      return `${node['is_procedure'] === true ? 'PROCEDURE' : 'FUNCTION'} ${nameOf(node['funcname'])}`;
    case 'ViewStmt':
      return `VIEW ${relationName(node['view'])}`;
    case 'CreateTableAsStmt':
      return `MATVIEW ${relationName((node['into'] as Node)['rel'])}`;
    case 'CreateSeqStmt':
      return `SEQUENCE ${relationName(node['sequence'])}`;
    case 'CreateTrigStmt':
      return `TRIGGER ${relationName(node['relation'])}.${asText(node['trigname'])}`;
    case 'CreateDomainStmt':
      return `DOMAIN ${nameOf(node['domainname'])}`;
    default:
      return kind;
  }
}

/** Only new migrations have it. */
const isNew = (object: string, { created, released }: Context) =>
  created.has(object) && !released.creates(object);

function alterTable({ relation, cmds = [] }: Node, context: Context): string[] {
  const { released, filled, needed } = context;
  const table = relationName(relation);
  if (!released.hasTable(table)) {
    return [];
  }
  return (cmds as { AlterTableCmd: Node }[]).flatMap(({ AlterTableCmd: { subtype, name, def } }) => {
    const step = `${words(asText(subtype).slice('AT_'.length))} ${table}`;
    const column = `${table}.${asText(name)}`;
    const isReleased = released.hasColumn(table, asText(name));
    switch (subtype) {
      case 'AT_AddColumn': {
        const added = (def as { ColumnDef: Node }).ColumnDef;
        const own = asText(added['colname']);
        return constraintsOf(added).some((each) => rejects(each, table, columnsOf(each, own), context))
          ? [`${step}.${own}`]
          : [];
      }
      case 'AT_AddConstraint': {
        const node = (def as { Constraint: Node }).Constraint;
        const columns = columnsOf(node);
        return rejects(node, table, columns, context)
          ? [`ADD CONSTRAINT ${table}.${asText(node['conname'] ?? columns.join('_'))}`]
          : [];
      }
      case 'AT_ColumnDefault':
        return isNull(def) && (isReleased || needed.has(column)) ? [`DROP DEFAULT ${column}`] : [];
      case 'AT_SetNotNull':
        // The last release inserts rows without a column that it does not have.
        return !isReleased && filled.has(column) ? [] : [`${step}.${asText(name)}`];
      case 'AT_DropConstraint':
        return released.hasCheck(asText(name)) ? [] : [`${step}.${asText(name)}`];
      default: {
        const isOfNewColumn = name !== undefined && !isReleased;
        return isOfNewColumn || HARMLESS_CHANGES.has(asText(subtype))
          ? []
          : [name === undefined ? step : `${step}.${asText(name)}`];
      }
    }
  });
}

function readColumns(statements: Node[]): Columns {
  const [filled, repeated, needed] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const [, { relation, cmds = [] }] of find(statements, ['AlterTableStmt'])) {
    const full = (column: string) => `${relationName(relation)}.${column}`;
    for (const { AlterTableCmd } of cmds as { AlterTableCmd: Node }[]) {
      const { subtype, name, def } = AlterTableCmd;
      const { ColumnDef, Constraint } = (def ?? {}) as Record<string, Node | undefined>;
      const own = asText(ColumnDef?.['colname'] ?? name);
      const constraints = ColumnDef === undefined ? [Constraint ?? {}] : constraintsOf(ColumnDef);
      const rejecting = constraints.filter(rejectsNull).flatMap((each) => columnsOf(each, own));
      [...rejecting, ...(subtype === 'AT_SetNotNull' ? [own] : [])].forEach((each) => needed.add(full(each)));
      const given = subtype === 'AT_ColumnDefault' ? valueOf(def) : ColumnDef && valueOfColumn(ColumnDef);
      if (given !== undefined) {
        filled.add(full(own));
      }
      if (given === 'same') {
        repeated.add(full(own));
      }
    }
  }
  return { filled, repeated, needed };
}

/** The value of a column in rows that do not name it. */
type Value = 'same' | 'different' | undefined;

function valueOf(expression: unknown): Value {
  return isNull(expression) ? undefined : find(expression, ['FuncCall']).length > 0 ? 'different' : 'same';
}

function valueOfColumn(column: Node): Value {
  if (SERIAL.test(nameOf((column['typeName'] as Node)['names']))) {
    return 'different';
  }
  return constraintsOf(column)
    .map(({ contype, raw_expr: value }): Value => {
      switch (contype) {
        case 'CONSTR_IDENTITY':
          return 'different';
        case 'CONSTR_GENERATED':
          return 'same';
        default:
          return contype === 'CONSTR_DEFAULT' ? valueOf(value) : undefined;
      }
    })
    .find((value) => value !== undefined);
}

function constraintsOf({ constraints = [] }: Node): Node[] {
  return (constraints as { Constraint: Node }[]).map(({ Constraint }) => Constraint);
}

/** Returns the columns that a constraint names, or its own. */
function columnsOf(node: Node, own?: string): string[] {
  const named = [...namesIn(node['keys']), ...namesIn(node['fk_attrs']), ...columnsIn(node['raw_expr'])];
  return named.length === 0 && own !== undefined ? [own] : named;
}

/** A check that tests for NULL counts, because PostgreSQL does not reveal what it rejects. */
function rejectsNull({ contype, raw_expr: expression }: Node): boolean {
  if (contype === 'CONSTR_CHECK') {
    return find(expression, ['NullTest', 'FuncCall', 'BoolExpr']).some(
      ([, { nulltesttype, funcname, boolop, args }]) =>
        nulltesttype === 'IS_NOT_NULL' ||
        /^num_(non)?nulls$/.test(nameOf(funcname)) ||
        (boolop === 'NOT_EXPR' && find(args, ['NullTest']).length > 0),
    );
  }
  return contype === 'CONSTR_NOTNULL' || contype === 'CONSTR_PRIMARY';
}

function isNull(expression: unknown): boolean {
  const { A_Const, TypeCast } = (expression ?? { A_Const: { isnull: true } }) as Record<string, Node>;
  return TypeCast === undefined ? A_Const?.['isnull'] === true : isNull(TypeCast['arg']);
}

/** A constraint rejects rows of the last release, unless it is of columns that the release never writes. */
function rejects(node: Node, table: string, columns: string[], context: Context): boolean {
  if (HARMLESS_CONSTRAINTS.test(asText(node['contype']))) {
    return false;
  }
  const isOfNew = columns.length > 0 && columns.every((each) => !context.released.hasColumn(table, each));
  const isFilled = columns.every((each) => context.filled.has(`${table}.${each}`));
  const isUnique = node['contype'] === 'CONSTR_UNIQUE' || node['contype'] === 'CONSTR_PRIMARY';
  return (
    !isOfNew || (rejectsNull(node) && !isFilled) || (isUnique && hasConflicts(node, table, columns, context))
  );
}

/** Returns whether two rows that do not name these unique columns conflict. */
function hasConflicts(node: Node, table: string, columns: string[], { filled, repeated }: Context): boolean {
  const names = columns.map((each) => `${table}.${each}`);
  const isNullOnce = node['nulls_not_distinct'] === true && !names.every((each) => filled.has(each));
  return isNullOnce || names.some((each) => repeated.has(each));
}

function uniqueIndex(node: Node, context: Context): string[] {
  const { unique, relation, indexParams = [], idxname } = node;
  const table = relationName(relation);
  const columns = (indexParams as { IndexElem: Node }[]).flatMap(({ IndexElem: { name, expr } }) =>
    name === undefined ? columnsIn(expr) : [asText(name)],
  );
  const { released } = context;
  const isOfNew = columns.length > 0 && columns.every((column) => !released.hasColumn(table, column));
  const isHarmless = isOfNew && !hasConflicts(node, table, columns, context);
  return unique !== true || isHarmless || !released.hasTable(table)
    ? []
    : [`CREATE UNIQUE INDEX ${asText(idxname ?? columns.join('_'))}`];
}

function rename({ renameType, relation, subname, object }: Node, context: Context): string[] {
  const { released } = context;
  const kind = asText(renameType).slice('OBJECT_'.length);
  const owner =
    relation === undefined
      ? object === undefined
        ? []
        : [objectName(object as Node)]
      : [relationName(relation)];
  const name = [...owner, ...(subname === undefined ? [] : [asText(subname)])].join('.');
  const [table = ''] = owner;
  const isNeeded: Record<string, boolean> = {
    INDEX: false,
    TABLE: released.hasTable(table),
    COLUMN: released.hasColumn(table, asText(subname)),
    TABCONSTRAINT: released.hasTable(table),
  };
  return (isNeeded[kind] ?? !isNew(`${kind} ${name}`, context)) ? [`RENAME ${words(kind)} ${name}`] : [];
}

function drop({ removeType, objects = [] }: Node, context: Context): string[] {
  const { released } = context;
  const kind = asText(removeType).slice('OBJECT_'.length);
  return (objects as Node[]).flatMap((object) => {
    const name = objectName(object, kind === 'TRIGGER' || kind === 'POLICY' || kind === 'RULE');
    const isNeeded: Record<string, boolean> = {
      TABLE: released.hasTable(name),
      TYPE: released.hasType(name),
      INDEX: released.hasUniqueIndex(name),
      STATISTIC_EXT: false,
    };
    return (isNeeded[kind] ?? !isNew(`${kind} ${name}`, context)) ? [`DROP ${words(kind)} ${name}`] : [];
  });
}

/** Returns the statements of a DO block; an EXECUTE in it, in any form, cannot be checked. */
function statementsIn(node: Node): Node[] {
  const [body = ''] = (node['args'] as { DefElem: Node }[])
    .filter(({ DefElem }) => DefElem['defname'] === 'as')
    .map(({ DefElem }) => (DefElem['arg'] as { String: { sval: string } }).String.sval);
  const quote = '$additive$';
  const found = find(parsePlPgSQLSync(`DO ${quote}${body}${quote}`), [...STATIC, ...DYNAMIC]);
  return found.flatMap(([kind, { sqlstmt, query = sqlstmt }]): Node[] => {
    if (DYNAMIC.includes(kind)) {
      return [{ ExecuteStmt: {} }];
    }
    // A cursor that is opened by EXECUTE has none.
    const { PLpgSQL_expr } = (query ?? {}) as { PLpgSQL_expr?: { query: string } };
    return PLpgSQL_expr === undefined ? [] : parse(PLpgSQL_expr.query).map(({ stmt }) => stmt);
  });
}

function parse(sql: string): { stmt: Node; stmt_location?: number }[] {
  return (parseSync(sql) as { stmts?: { stmt: Node; stmt_location?: number }[] }).stmts ?? [];
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

/** The last of the names is its own; a schema may precede it. */
const nameOf = (list: unknown) => namesIn(list).at(-1) ?? '';
/** Names in the tree are texts. */
const asText = (value: unknown) => value as string;
const relationName = (relation: unknown) => asText((relation as Node)['relname']);

/** Returns the name of what is dropped or renamed; a trigger's includes its table's. */
function objectName(object: Node, isOfTable = false): string {
  const { List, TypeName, ObjectWithArgs } = object as Record<string, Node | undefined>;
  const names = namesIn(List?.['items'] ?? TypeName?.['names'] ?? ObjectWithArgs?.['objname'] ?? [object]);
  return names.slice(isOfTable ? -2 : -1).join('.');
}

/** Returns `SET NOT NULL` for `SetNotNull`. */
function words(name: string): string {
  return name
    .replaceAll(/(?<=[a-z])(?=[A-Z])|_/g, ' ')
    .toUpperCase()
    .replace('UN LOGGED', 'UNLOGGED')
    .replace(/\bTRIG\b/, 'TRIGGER')
    .replace('TABCONSTRAINT', 'CONSTRAINT');
}
