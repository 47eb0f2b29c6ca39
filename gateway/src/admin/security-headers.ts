/** For files and the API reference: everything from here, nothing inline, nothing from elsewhere. */
export const pagePolicy = [
  "default-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** For the API reference: swagger-ui draws its icons from `data:` URLs. Everything else is as strict. */
export const docsPolicy = `${pagePolicy}; img-src 'self' data:`;

/** Where browsers tell what the console's policy kept from happening. */
export const policyReportPath = "/api/csp-report";

/**
 * For the console. Its component kit writes style tags, which only work with the nonce of this very answer; scripts are our
 * own files and nothing else. Text becomes markup only through the one policy that the page makes for itself at its start
 * (Trusted Types). Pictures and films may be made in the page (`blob:`, `data:`), but come from nowhere else.
 */
export function consolePolicy(nonce: string): string {
  return [
    "default-src 'self'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types default",
    `report-uri ${policyReportPath}`,
  ].join("; ");
}

const headers = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // The console's playground records what is to be transcribed, after the browser has asked.
  "permissions-policy": "camera=(), geolocation=(), microphone=(self), payment=(), usb=()",
} as const;

/** Puts on what every answer of the control plane carries; an answer without a policy of its own may load nothing. */
export function withSecurityHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  if (!response.headers.has("content-security-policy")) {
    response.headers.set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  }
  return response;
}
