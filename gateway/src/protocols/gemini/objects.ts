import type { UpstreamObjectKind } from "#core/index.ts";
import type { NamesHeard } from "../json/scan.ts";
import { type NamedObject, nestedObjects, objectNames } from "../request/named-objects.ts";

/** Files and stores of the vendor; an address of anything else is read by nobody's account. */
const ofVendor = /^gs:|googleapis\.com|^(?:files|fileSearchStores)\//i;
const fileNames: readonly string[] = ["fileUri", "file_uri"];
/** Stores to search in. */
const storeNames = bothSpellings([
  ...["fileSearchStoreNames", "ragCorpus", "ragCorpora", "ragFileIds", "datastore", "dataStore", "engine"],
]);
/** Secrets and accounts to sign in with, checks to apply, and places to write an answer to, which are the account's or open to it. */
const resourceNames = bothSpellings([
  ...["apiKeySecret", "apiKeySecretVersion", "credentialSecret", "serviceAccount", "voice"],
  ...["promptTemplateName", "responseTemplateName", "gcsUri", "outputUriPrefix", "outputGcsUri"],
]);
const namesOfGemini = [...fileNames, ...storeNames, ...resourceNames];
export const objectsOfGemini = objectNames(namesOfGemini, namesOfGemini);

/** Those of the account that a checked body names, anywhere but at its top. */
export function geminiObjects(body: Uint8Array, heard: NamesHeard): readonly NamedObject[] {
  return nestedObjects(body, objectsOfGemini, heard)
    .filter(isOfAccount)
    .map((object) => ({ ...object, kind: kindOf(object) }));
}

/** Whether the address is that of a file or store of the vendor's. */
export function isVendorFile(address: string): boolean {
  return ofVendor.test(address);
}

/** Addresses of others, and voices that everybody may have, belong to no account. */
function isOfAccount({ param, id }: NamedObject): boolean {
  if (param === "voice") return /^voices?[_/]/i.test(id);
  return !fileNames.includes(param) || isVendorFile(id);
}

function kindOf({ param }: NamedObject): UpstreamObjectKind {
  if (fileNames.includes(param)) return "file";
  return storeNames.includes(param) ? "vector_store" : "resource";
}

function bothSpellings(names: readonly string[]): readonly string[] {
  const snake = names.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  return [...new Set([...names, ...snake])];
}
