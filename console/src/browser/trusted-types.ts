interface TrustedTypesFactory {
  createPolicy(
    name: string,
    rules: { createHTML: (text: string) => string; createScriptURL: (url: string) => string },
  ): unknown;
}

/**
 * The page is served with `require-trusted-types-for 'script'`: text becomes markup or a script's address only through this policy. It
 * allows style sheets of the component library, which contain no `<`, and scripts from our build. Anything else throws, so that a bug
 * anywhere in the page cannot run an attacker's script.
 */
export function guardMarkup(): void {
  const factory = (globalThis as { trustedTypes?: TrustedTypesFactory }).trustedTypes;
  factory?.createPolicy("default", { createHTML: onlyText, createScriptURL: onlyOwnScript });
}

export function onlyText(text: string): string {
  if (text.includes("<")) throw new TypeError("This page never turns text into markup.");
  return text;
}

export function onlyOwnScript(url: string): string {
  const { origin, pathname } = new URL(url, location.href);
  if (origin !== location.origin || !pathname.startsWith("/console/"))
    throw new TypeError("Not a script of this page.");
  return url;
}
