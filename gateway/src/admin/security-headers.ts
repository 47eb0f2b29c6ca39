/** For the console: everything from here, nothing inline, nothing from elsewhere. */
export const pagePolicy = [
  "default-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** For the API reference: swagger-ui draws its icons from `data:` URLs. Everything else is as strict. */
export const docsPolicy = `${pagePolicy}; img-src 'self' data:`;

const headers = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
} as const;

/** Puts on what every answer of the control face carries; an answer without a policy of its own may load nothing. */
export function withSecurityHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  if (!response.headers.has("content-security-policy")) {
    response.headers.set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  }
  return response;
}
