import type { Generated } from "kysely";

/** `workspace_id` null: every workspace that the change concerns. `change` and `result` are JSON. */
export interface RehearsalTables {
  rehearsals: {
    id: string;
    owner_id: string;
    workspace_id: string | null;
    change: string;
    from_at: number;
    to_at: number;
    state: string;
    /** The process that runs it. */
    process: string;
    entries: Generated<number>;
    /** 0 to 1. */
    progress: Generated<number>;
    problem: Generated<string | null>;
    result: Generated<string | null>;
    created_at: number;
    updated_at: number;
    ended_at: Generated<number | null>;
    expires_at: number;
  };
}
