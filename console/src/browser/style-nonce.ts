/**
 * The gateway serves this page with a policy that lets only style tags with this answer's nonce work, and puts the
 * nonce into a meta tag. Without a gateway (Vite's own server) the placeholder is still there, and nothing checks it.
 */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? "";
}

/** The scroll lock of modals adds a style tag and reads its nonce from this global. */
export function announceStyleNonce(nonce: string): void {
  Object.assign(globalThis, { __webpack_nonce__: nonce });
}
