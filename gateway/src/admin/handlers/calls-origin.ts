export interface CallsOriginOptions {
  readonly publicUrl: string | null;
  /** Where callers reach the gateway; null, or left out: where the console is. */
  readonly callsUrl?: () => string | null;
}

/** Where callers reach the gateway, as far as the console can know. Without a slash at its end. */
export function callsOrigin({ callsUrl, publicUrl }: CallsOriginOptions, request: Request): string {
  return (callsUrl?.() ?? publicUrl ?? new URL(request.url).origin).replace(/\/+$/, "");
}
