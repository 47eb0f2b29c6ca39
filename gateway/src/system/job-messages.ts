/** From a thread: `failed` is a fault of ours, in words for the log. */
export type JobReply = { readonly reply: unknown } | { readonly failed: string };
