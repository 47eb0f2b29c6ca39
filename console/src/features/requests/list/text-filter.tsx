import { TextInput } from "@mantine/core";
import { type FormEvent, useEffect, useState } from "react";
import { useUrlText } from "../../../routes/search.ts";

interface TextFilterProps {
  /** Its name in the URL. */
  readonly name: string;
  readonly label: string;
  /** Texts that the gateway accepts. Default: all. */
  readonly pattern?: RegExp;
  /** Shown for other texts. */
  readonly help?: string;
  readonly numeric?: boolean;
  readonly maxLength?: number;
}

/** A filter by a typed text, which applies with Enter or when the field loses the focus. */
export function TextFilter({ name, label, pattern = /^/, help, numeric = false, maxLength = 256 }: TextFilterProps) {
  const [urlText, setUrlText] = useUrlText(name);
  const [text, setText] = useState(urlText);
  useEffect(() => setText(urlText), [urlText]);
  const wrong = text !== "" && !pattern.test(text);
  const commit = (event?: FormEvent) => {
    event?.preventDefault();
    if (!wrong && text !== urlText) setUrlText(text.trim());
  };
  return (
    <form onSubmit={commit} className="filter">
      <TextInput
        aria-label={label}
        placeholder={label}
        {...(numeric ? { inputMode: "decimal" as const } : {})}
        maxLength={maxLength}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={() => commit()}
        error={wrong ? (help ?? null) : null}
      />
    </form>
  );
}
