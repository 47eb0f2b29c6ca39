/**
 * The gateway serves this page with a policy that lets only style tags with this answer's nonce work, and puts the
 * nonce into a meta tag. Without a gateway (Vite's own server) the placeholder is still there, and nothing checks it.
 */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? "";
}

/** What locks the page behind a modal writes a style tag of its own, and asks for its nonce under this name. */
export function announceStyleNonce(nonce: string): void {
  Object.assign(globalThis, { __webpack_nonce__: nonce });
}
