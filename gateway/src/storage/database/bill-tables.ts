/** Days of vendors' bills, in UTC (`2026-11-30`). `bill` and `lines` are JSON. */
export interface BillTables {
  bill_days: {
    provider: string;
    day: string;
    /** The kind of the billing source. */
    source: string;
    read_at: number;
    /** The rows of the vendor. */
    bill: string;
    /** The comparison with the ledger. */
    lines: string;
    state: "matched" | "different";
    our_nano_usd: number;
    their_nano_usd: number;
    estimated_nano_usd: number;
    foreign_nano_usd: number;
    differing_nano_usd: number;
  };
  /** `problem` null: the last reading succeeded. */
  bill_readings: { provider: string; read_at: number; problem: string | null };
  /** Decisions of administrators about differences. A line may have several. */
  bill_decisions: {
    id: string;
    provider: string;
    day: string;
    model: string;
    usage_class: string;
    action: "adjusted" | "priced" | "explained";
    amount_nano_usd: number;
    note: string;
    /** Name of the actor. */
    actor: string;
    at: number;
  };
}
