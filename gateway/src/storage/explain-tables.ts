/** The tables that migration 007 adds. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by its migration.
export interface ExplainTables {}
