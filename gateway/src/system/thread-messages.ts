/** `failed`: an error of the thread, for the log. */
export type OrderAnswer<Reply> = { readonly reply: Reply } | { readonly failed: string };

/** Sent instead of an order: clean up and end. */
export const endOrder = "end";
