import { TagsInput, Text } from "@mantine/core";
import { useCall } from "../api/use-call.ts";
import { t } from "../language/areas/components.ts";

interface PatternsInputProps {
  readonly value: readonly string[];
  readonly onChange: (patterns: string[]) => void;
  readonly label?: string;
  readonly description?: string;
  readonly disabled?: boolean;
  readonly error?: string | null;
}

const patternsMax = 1_000;
const charactersMax = 256;

/** Model names, or patterns with `*`. Suggests existing models and counts the matches. */
export function PatternsInput({
  value,
  onChange,
  label = t("components.labels.models"),
  description,
  disabled = false,
  error,
}: PatternsInputProps) {
  const models = useCall("models.list");
  const names = models.data?.data.map((model) => model.name) ?? [];
  const through = names.filter((name) => value.some((pattern) => matches(pattern, name))).length;
  return (
    <div>
      <TagsInput
        label={label}
        description={description ?? t("components.patterns.help")}
        placeholder={value.length === 0 ? t("components.patterns.noneAllowed") : ""}
        data={["*", ...names]}
        value={[...value]}
        onChange={(next) =>
          onChange(next.map((each) => each.trim()).filter((each) => each !== "" && each.length <= charactersMax))
        }
        maxTags={patternsMax}
        splitChars={[",", " ", "\n"]}
        acceptValueOnBlur
        clearable
        limit={50}
        disabled={disabled}
        error={error ?? null}
      />
      {models.data !== undefined && (
        <Text size="xs" c="dimmed" mt={4} aria-live="polite">
          {t("components.patterns.matched", { matched: through, all: names.length })}
        </Text>
      )}
    </div>
  );
}

/** Whether a pattern matches a name; `*` matches any text. A preview only: the gateway decides. */
export function matches(pattern: string, name: string): boolean {
  const pieces = pattern.split("*");
  const first = pieces[0] ?? "";
  if (pieces.length === 1) return pattern === name;
  const last = pieces.at(-1) ?? "";
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let from = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, from);
    if (found === -1) return false;
    from = found + piece.length;
  }
  return from <= name.length - last.length;
}
