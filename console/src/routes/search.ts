import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";

/**
 * Query parameters of the URL as plain texts, so that URLs can be read, shared and typed. `workspace` is kept from page to page; the
 * others belong to one page.
 */
export interface Search {
  readonly workspace?: string;
  readonly [name: string]: string | undefined;
}

export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

export function writeSearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== "") params.set(name, String(value));
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

export function checkSearch(search: Record<string, unknown>): Search {
  return Object.fromEntries(
    Object.entries(search).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** One URL parameter and its setter. An empty text removes it. */
export function useUrlText(name: string, fallback = ""): readonly [string, (value: string) => void] {
  const value = useSearch({ strict: false, select: (search: Search) => search[name] || fallback });
  const change = useUrlChange();
  const set = useCallback(
    (text: string) => change({ [name]: text === fallback ? "" : text }),
    [change, name, fallback],
  );
  return [value, set];
}

/** All URL parameters. */
export function useUrlSearch(): Search {
  return useSearch({ strict: false });
}

/** Changes several URL parameters at once. An empty text removes one. Replaces the history entry of the page. */
export function useUrlChange(): (changes: Readonly<Record<string, string>>) => void {
  const navigate = useNavigate();
  return useCallback(
    (changes) => {
      void navigate({
        to: ".",
        search: (before: Search) => ({ ...before, ...changes }),
        replace: true,
        resetScroll: false,
      });
    },
    [navigate],
  );
}
