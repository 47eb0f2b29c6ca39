/**
 * Zod makes faster code at run time where it may, and tries out whether it may. This page forbids it, and the try alone would
 * be reported as a breach; so it is told beforehand, under the name it looks at when it is loaded.
 */
export function forbidMadeCode(): void {
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
}
