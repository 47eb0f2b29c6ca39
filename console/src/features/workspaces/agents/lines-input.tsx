import { Textarea } from "@mantine/core";
import { useState } from "react";

interface LinesInputProps {
  readonly label: string;
  readonly description?: string;
  readonly placeholder?: string;
  readonly value: readonly string[];
  readonly onChange: (lines: readonly string[]) => void;
  readonly disabled: boolean;
}

/** One thing in each line. Empty lines stand while they are typed, and are not sent. */
export function LinesInput({ value, onChange, ...rest }: LinesInputProps) {
  const joined = value.join("\n");
  const [typed, setTyped] = useState(joined);
  // What was changed elsewhere, as in the JSON, is shown; what was typed here stays as it was typed.
  const shown = linesOf(typed).join("\n") === joined ? typed : joined;
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

function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}
