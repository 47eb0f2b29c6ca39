/**
 * The gateway serves this page with a policy that allows only style tags with the nonce of this response, and puts the nonce into a meta
 * tag. Vite's own server leaves the placeholder in, and sends no policy.
 */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? "";
}

/** The scroll lock of modals adds a style tag and reads its nonce from this global. */
export function announceStyleNonce(nonce: string): void {
  Object.assign(globalThis, { __webpack_nonce__: nonce });
}
