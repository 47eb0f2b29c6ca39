import type { Exchange, Face } from "./face.ts";

/** Where callers reach this gateway: as configured, else as this one has. Without a slash at its end. */
export function originOf(face: Face, { request }: Exchange): string {
  const configured = face.publicUrl();
  if (configured !== null) return configured;
  const url = request.url;
  return url.slice(0, url.indexOf("/", 8));
}
