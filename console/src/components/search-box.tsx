import { CloseButton, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { t } from "../language/areas/components.ts";
import { useUrlText } from "../routes/search.ts";

interface SearchBoxProps {
  readonly label: string;
  readonly placeholder?: string;
  /** The URL parameter; default: `search`. Read it with `useUrlText(name)`. */
  readonly name?: string;
}

const quietMs = 250;

/** A search that is written to the URL shortly after the last key press. `/` focuses it from anywhere on the page. */
export function SearchBox({ label, placeholder = label, name = "search" }: SearchBoxProps) {
  const [urlText, setUrlText] = useUrlText(name);
  const [text, setText] = useState(urlText);
  const box = useRef<HTMLInputElement>(null);
  const keepLater = useDebouncedCallback(setUrlText, { delay: quietMs, flushOnUnmount: false });
  const sent = useRef(urlText);
  useEffect(() => {
    // The URL changed from outside: a link, the back button.
    if (urlText !== sent.current) setText(urlText);
    sent.current = urlText;
  }, [urlText]);
  const change = (next: string) => {
    setText(next);
    sent.current = next;
    keepLater(next);
  };
  return (
    <TextInput
      ref={box}
      type="search"
      className="search-box"
      data-search-box
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={15} aria-hidden />}
      value={text}
      maxLength={256}
      onChange={(event) => change(event.currentTarget.value)}
      rightSection={
        text === "" ? null : (
          <CloseButton
            size="sm"
            aria-label={t("components.search.clear")}
            onClick={() => {
              change("");
              keepLater.flush();
              box.current?.focus();
            }}
          />
        )
      }
    />
  );
}
