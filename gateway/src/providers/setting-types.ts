import type { ProviderKind } from "./kind.ts";
import { kindForm } from "./kind-form.ts";
import type { SettingField } from "./setting-field.ts";

/** Something wrong with one setting, in words that go after its name. */
export interface SettingProblem {
  readonly name: string;
  /** `unknown`: the kind has no such setting. */
  readonly what: "unknown" | "type";
  readonly problem: string;
}

/**
 * Settings that a kind does not have, and values of another type than it reads. What is empty counts as not there, as it does
 * where settings are read.
 */
export function wrongSettings(
  kind: ProviderKind,
  settings: Readonly<Record<string, unknown>>,
): readonly SettingProblem[] {
  const { fields } = kindForm(kind);
  return Object.entries(settings).flatMap(([name, value]): SettingProblem[] => {
    const field = fields.find((each) => each.name === name);
    if (field === undefined) {
      return [{ name, what: "unknown", problem: `the kind ${kind.id} has no setting \`${name.slice(0, nameMax)}\`` }];
    }
    const problem = value === null || value === "" ? null : settingTypeProblem(field, value);
    return problem === null ? [] : [{ name, what: "type", problem }];
  });
}

export function settingTypeProblem(field: SettingField, value: unknown): string | null {
  switch (field.type) {
    case "boolean":
      return typeof value === "boolean" ? null : "must be true or false";
    case "number":
      return typeof value === "number" ? null : "must be a number";
    case "list":
      return Array.isArray(value) && value.every((each) => typeof each === "string") ? null : "must be a list of texts";
    case "select":
      return field.options?.some((option) => option === value) === true
        ? null
        : `must be one of: ${field.options?.join(", ")}`;
    case "json":
      return null;
    default:
      return typeof value === "string" && value.length <= settingCharactersMax ? null : "must be a text";
  }
}

const settingCharactersMax = 8_192;
const nameMax = 64;
