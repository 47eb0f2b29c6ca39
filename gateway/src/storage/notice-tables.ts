/** The tables that migration 010 adds. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by its migration.
export interface NoticeTables {}
