export type LimitName = "rpm" | "tpm" | "concurrency" | "budget";
