/** The part of SQL that this project's statements are written in, as trees. */
export type Expression =
  | { readonly t: 'value'; readonly value: unknown }
  | { readonly t: 'parameter'; readonly index: number }
  | { readonly t: 'column'; readonly table: string | null; readonly name: string }
  | {
      readonly t: 'call';
      readonly name: string;
      readonly inputs: readonly Expression[];
      readonly distinct: boolean;
      readonly filter: Expression | null;
    }
  | { readonly t: 'operator'; readonly name: string; readonly inputs: readonly Expression[] }
  | {
      readonly t: 'case';
      readonly subject: Expression | null;
      readonly branches: readonly (readonly [Expression, Expression])[];
      readonly otherwise: Expression | null;
    }
  | { readonly t: 'in'; readonly subject: Expression; readonly among: readonly Expression[] | Select }
  | { readonly t: 'exists'; readonly select: Select }
  | { readonly t: 'scalar'; readonly select: Select }
  | { readonly t: 'row'; readonly items: readonly Expression[] }
  | {
      readonly t: 'any';
      readonly name: string;
      readonly left: Expression;
      readonly list: Expression;
      readonly all: boolean;
    }
  | { readonly t: 'cast'; readonly value: Expression; readonly type: string };

export interface Output {
  /** Null for `*` or `table.*`. */
  readonly expression: Expression | null;
  readonly table: string | null;
  readonly name: string;
}

export interface From {
  readonly source: string | Select;
  readonly alias: string;
  readonly join: 'inner' | 'left';
  readonly on: Expression | null;
}

export interface Select {
  readonly t: 'select';
  readonly ctes: readonly Cte[];
  readonly distinct: boolean;
  readonly outputs: readonly Output[];
  readonly from: readonly From[];
  readonly where: Expression | null;
  readonly group: readonly Expression[];
  readonly having: Expression | null;
  readonly order: readonly { readonly by: Expression; readonly down: boolean }[];
  readonly limit: Expression | null;
  readonly union: Select | null;
}

export interface Assignment {
  readonly columns: readonly string[];
  readonly value: Expression;
}

export interface Insert {
  readonly t: 'insert';
  readonly ctes: readonly Cte[];
  readonly table: string;
  readonly alias: string;
  readonly columns: readonly string[];
  readonly source: Select | readonly (readonly Expression[])[];
  readonly conflict: {
    readonly target: readonly string[] | null;
    readonly sets: readonly Assignment[] | null;
    readonly where: Expression | null;
  } | null;
  readonly returning: readonly Output[];
}

export interface Update {
  readonly t: 'update';
  readonly ctes: readonly Cte[];
  readonly table: string;
  readonly alias: string;
  readonly sets: readonly Assignment[];
  readonly from: readonly From[];
  readonly where: Expression | null;
  readonly returning: readonly Output[];
}

export interface Delete {
  readonly t: 'delete';
  readonly ctes: readonly Cte[];
  readonly table: string;
  readonly alias: string;
  readonly from: readonly From[];
  readonly where: Expression | null;
  readonly returning: readonly Output[];
}

export type Statement = Select | Insert | Update | Delete;

export interface Cte {
  readonly name: string;
  readonly statement: Statement;
}
