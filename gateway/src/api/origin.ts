import type { ApiDependencies, Exchange } from "./dependencies.ts";

/** Where callers reach this gateway: as configured, else as this one has. Without a slash at its end. */
export function originOf(dependencies: ApiDependencies, { request }: Exchange): string {
  const configured = dependencies.publicUrl();
  if (configured !== null) return configured;
  const url = request.url;
  return url.slice(0, url.indexOf("/", 8));
}
