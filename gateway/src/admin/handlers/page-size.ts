/** Rows of a page when nobody says how many. */
export const pageSize = 50;
