/**
 * Zod generates code at run time if the page allows it. The content security policy does not, and even Zod's test would be reported
 * as a violation. So this disables it through the global that Zod reads when it is loaded.
 */
export function forbidMadeCode(): void {
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
}
