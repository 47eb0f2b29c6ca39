/** The tables that migration 006 adds. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by its migration.
export interface ReportTables {}
