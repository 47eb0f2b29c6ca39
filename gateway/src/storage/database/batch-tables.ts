import type { Generated } from "kysely";
import type { Batch, BatchRow, Columns } from "#core/index.ts";

type JsonMember = "metadata" | "headers" | "tags" | "errors" | "holds" | "budgets";

export interface BatchTables {
  batches: Columns<Omit<Batch, "personId" | "actorId">, JsonMember> & {
    person_id: Generated<string | null>;
    actor_id: Generated<string | null>;
    /** The token of the pass that works on the batch, and the end of its lease. */
    lease: string | null;
    leased_until: number | null;
  };
  /** Deleted once the result of the batch is written. */
  batch_rows: Columns<BatchRow>;
}
