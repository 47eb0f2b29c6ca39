import { t } from "../../language/areas/workspaces.ts";

const lengthMax = 63;

/** A slug out of a name: `Acme Robotics & Söhne` becomes `acme-robotics-sohne`. */
export function slugOf(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, lengthMax)
    .replace(/^-+|-+$/g, "");
}

/** Why a text is no slug; null: it is one. */
export function slugFault(slug: string): string | null {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(slug)) return null;
  return t("workspaces.fields.slugWrong");
}
