/** The tables that migration 008 adds. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by its migration.
export interface PeopleTables {}
