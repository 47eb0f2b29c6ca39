/** From a thread that does orders: `failed` is a fault of ours, in words for the log. */
export type OrderAnswer<Reply> = { readonly reply: Reply } | { readonly failed: string };

/** To such a thread, in the place of an order: it lets go of what it holds, and ends. */
export const endOrder = "end";
