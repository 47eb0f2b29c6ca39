/** The parts of the package `pg` that are used here, see https://node-postgres.com. */
declare module "pg" {
  import type { EventEmitter } from "node:events";
  import type { ConnectionOptions } from "node:tls";

  interface PoolConfig {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly password: string;
    readonly database: string;
    readonly ssl: ConnectionOptions | false;
    readonly max: number;
    readonly connectionTimeoutMillis: number;
    readonly idleTimeoutMillis: number;
    readonly keepAlive: boolean;
    readonly application_name: string;
    readonly types: { getTypeParser(oid: number, format?: string): (value: string) => unknown };
    /** Awaited before a new connection is used; a rejection closes it. */
    onConnect(client: PoolClient): Promise<void>;
  }

  interface PgResult {
    readonly command: string;
    readonly rowCount: number | null;
    readonly rows: readonly unknown[];
  }

  interface PoolClient extends EventEmitter {
    query(text: string, values?: readonly unknown[]): Promise<PgResult>;
    /** Rejects without an answer within `query_timeout` milliseconds. */
    query(statement: { readonly text: string; readonly query_timeout: number }): Promise<PgResult>;
    /** Prepared once per connection, under this name. */
    query(statement: {
      readonly name: string;
      readonly text: string;
      readonly values: readonly unknown[];
    }): Promise<PgResult>;
    /** True: the connection is not used again. */
    release(destroy?: boolean): void;
    readonly connection: { readonly stream: { destroy(): void } };
  }

  class Pool extends EventEmitter {
    constructor(config: PoolConfig);
    connect(): Promise<PoolClient>;
    end(): Promise<void>;
  }

  /** One connection, without a pool. */
  class Client extends EventEmitter {
    constructor(address: string);
    connect(): Promise<void>;
    query(text: string, values?: readonly unknown[]): Promise<PgResult>;
    end(): Promise<void>;
  }

  const pg: { readonly Pool: typeof Pool; readonly Client: typeof Client };

  export type { Client, PgResult, Pool, PoolClient, PoolConfig };
  export default pg;
}
