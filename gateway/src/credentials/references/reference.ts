/** A secret reference in its parts. `field` is a field of the JSON that is stored there. */
export type SecretReference =
  | { readonly store: "vault"; readonly mount: string; readonly path: string; readonly field: string }
  | { readonly store: "aws-sm"; readonly region: string; readonly name: string; readonly field: string | null }
  | { readonly store: "gcp-sm"; readonly name: string; readonly field: string | null }
  | { readonly store: "azure-kv"; readonly vault: string; readonly name: string; readonly field: string | null }
  | { readonly store: "file"; readonly path: string }
  | { readonly store: "env"; readonly name: string };

type SecretStore = SecretReference["store"];

const scheme = /^(vault|aws-sm|gcp-sm|azure-kv|file|env):\/\//;

/** Whether a secret is a reference. No vendor's key begins like one. */
export function isReference(text: string): boolean {
  return scheme.test(text);
}

/** A problem with the form of a secret that is a reference; null if there is none. */
export function referenceFormProblem(secret: unknown): string | null {
  const store = typeof secret === "string" ? (scheme.exec(secret)?.[1] as SecretStore | undefined) : undefined;
  if (store === undefined || parseReference(String(secret)) !== null) return null;
  return `must have the form ${referenceForms[store]}`;
}

const referenceForms: Readonly<Record<SecretStore, string>> = {
  vault: "vault://mount/path#field",
  "aws-sm": "aws-sm://region/name, with an optional #field",
  "gcp-sm": "gcp-sm://projects/P/secrets/S, with an optional /versions/V and #field",
  "azure-kv": "azure-kv://vault/name, with an optional /version and #field",
  file: "file:///path",
  env: "env://NAME",
};

/** null: the form of its store does not allow it. */
export function parseReference(text: string): SecretReference | null {
  const store = scheme.exec(text)?.[1] as SecretStore | undefined;
  if (store === undefined || /[\s\\\p{Cc}]/u.test(text)) return null;
  const [place = "", field = null, ...others] = text.slice(store.length + 3).split("#");
  if (others.length > 0 || field === "" || /(?:^|\/)\.{0,2}(?:\/|$)/.test(store === "file" ? place.slice(1) : place))
    return null;
  switch (store) {
    case "vault": {
      const [, mount = "", path = ""] = /^([^/]+)\/(.+)$/.exec(place) ?? [];
      return mount === "" || field === null ? null : { store, mount, path, field };
    }
    case "aws-sm": {
      const [, region = "", name = ""] = /^([a-z]{2}(?:-[a-z]+)+-\d)\/([\w/+=.@:!-]{1,512})$/.exec(place) ?? [];
      return region === "" ? null : { store, region, name, field };
    }
    case "gcp-sm": {
      const isRight = /^projects\/[a-z0-9.:-]+\/secrets\/[\w-]+(?:\/versions\/(?:latest|\d+|[\w-]+))?$/.test(place);
      return isRight ? { store, name: place.includes("/versions/") ? place : `${place}/versions/latest`, field } : null;
    }
    case "azure-kv": {
      const [, vault = "", name = ""] =
        /^([a-zA-Z][a-zA-Z0-9-]{1,62})\/([a-zA-Z0-9-]+(?:\/[0-9a-f]{32})?)$/.exec(place) ?? [];
      return vault === "" ? null : { store, vault, name, field };
    }
    case "file":
      return place.startsWith("/") && field === null ? { store, path: place } : null;
    case "env":
      return /^[A-Za-z_]\w*$/.test(place) && field === null ? { store, name: place } : null;
  }
}
