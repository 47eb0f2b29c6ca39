import { type assetTypes, typeOfAddress } from "./asset-types.ts";

/** The form of a new asset. */
export interface AssetDraft {
  readonly group: string;
  readonly from: "file" | "url";
  readonly file: File | null;
  readonly url: string;
  readonly name: string;
  /** null: guessed from the URL. */
  readonly type: (typeof assetTypes)[number] | null;
}

/** Provider libraries accept only URLs. */
export function sourceOf({ from }: Pick<AssetDraft, "from">, platform: string | null): AssetDraft["from"] {
  return platform === null || platform === "local" ? from : "url";
}

/** The body of the call; null while something is missing. */
export function bodyOf(
  draft: AssetDraft,
  platform: string | null,
): Readonly<Record<string, unknown>> | FormData | null {
  if (platform === null) return null;
  const name = draft.name.trim();
  if (sourceOf(draft, platform) === "file") {
    if (draft.file === null) return null;
    const form = new FormData();
    form.append("group_id", draft.group);
    if (name !== "") form.append("name", name);
    form.append("file", draft.file, draft.file.name);
    return form;
  }
  const url = draft.url.trim();
  if (url === "") return null;
  const type = draft.type ?? typeOfAddress(url);
  return { platform, group_id: draft.group, url, asset_type: type, ...(name === "" ? {} : { name }) };
}
