import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useSession } from "../session/session-context.tsx";
import { useWorkspace } from "../session/workspace.ts";
import { visiblePages } from "./page-list.ts";

interface Shortcuts {
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}

/** How long after `g` the next key counts as part of the shortcut. */
const jumpMs = 1_200;

export function commandKey(): string {
  return /Mac|iP(hone|ad|od)/.test(navigator.userAgent) ? "⌘" : "Ctrl";
}

/** Global shortcuts: the palette, help, the page's search, and jumps. Inactive while the user types. */
export function useShortcuts({ onPalette, onHelp }: Shortcuts): void {
  const navigate = useNavigate();
  const { media } = useSession().answer;
  const { may } = useWorkspace();
  const jumpUntil = useRef(0);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
        event.preventDefault();
        onPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || types(event.target)) return;
      if (document.querySelector("[aria-modal=true]") !== null) return;
      const jump = event.timeStamp < jumpUntil.current;
      jumpUntil.current = !jump && event.key === "g" ? event.timeStamp + jumpMs : 0;
      const page = jump ? visiblePages(may, media).find((each) => each.shortcut === event.key) : undefined;
      if (page !== undefined) {
        event.preventDefault();
        void navigate({ to: page.to });
      } else if (event.key === "?") {
        event.preventDefault();
        onHelp();
      } else if (event.key === "/") {
        const box = document.querySelector<HTMLElement>("input[data-search-box]");
        if (box === null) return;
        event.preventDefault();
        box.focus();
      }
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [onPalette, onHelp, navigate, may, media]);
}

function types(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
