/** What a statement is sent to: the pool, or the connection of one transaction. Each function of the store takes one first. */
export interface Queryable {
  /** Sends one statement. Its text must be a constant, because it is prepared once per connection under its own hash. */
  query<Row extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<QueryAnswer<Row>>;
}

export interface QueryAnswer<Row> {
  readonly rows: Row[];
  readonly rowCount: number | null;
  /** What the server says that it did, such as `UPDATE` or `COMMIT`. */
  readonly command: string;
}

export interface Database extends Queryable {
  /** Lends one connection for several statements and takes it back; what `work` leaves open on it is thrown away. */
  withConnection<Result>(work: (connection: Queryable) => Promise<Result>): Promise<Result>;
  /** Connections of the pool: all, lent out right now, and callers that wait for one. */
  connections(): { readonly open: number; readonly busy: number; readonly waiting: number };
  /** Waits for the connections that are lent out, then closes all. */
  close(): Promise<void>;
}
