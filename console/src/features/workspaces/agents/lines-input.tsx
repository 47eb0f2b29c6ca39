import { Textarea } from "@mantine/core";
import { useState } from "react";

interface LinesInputProps {
  readonly label: string;
  readonly description?: string;
  readonly placeholder?: string;
  readonly value: readonly string[];
  readonly onChange: (lines: readonly string[]) => void;
  /** The lines after they are stored and read back, if that may change them. */
  readonly stored?: (lines: readonly string[]) => readonly string[];
  readonly disabled: boolean;
}

/** One entry per line. Empty lines are allowed while typing, and not sent. */
export function LinesInput({ value, onChange, stored = asTheyAre, ...rest }: LinesInputProps) {
  const joined = value.join("\n");
  const [typed, setTyped] = useState(joined);
  // Shows changes from elsewhere, such as the JSON, but keeps what the user types here.
  const shown = stored(linesOf(typed)).join("\n") === joined ? typed : joined;
  return (
    <Textarea
      {...rest}
      autosize
      minRows={2}
      maxRows={10}
      spellCheck={false}
      styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
      value={shown}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        onChange(linesOf(event.currentTarget.value));
      }}
    />
  );
}

const asTheyAre = (lines: readonly string[]) => lines;

function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}
