import { useEffect, useEffectEvent } from "react";

/** Open dialogs and drawers, the topmost last. */
const layers: (() => void)[] = [];

/**
 * Escape closes only the topmost dialog at the moment the key is pressed. The library's own dialogs each listen for themselves: one that
 * the key has just opened ("Leave without saving?") would be closed by the same key, and a drawer together with the dialog above it.
 */
export function useEscape(opened: boolean, onClose: (() => void) | null): void {
  const close = useEffectEvent(() => onClose?.());
  useEffect(() => {
    if (!opened) return;
    const layer = () => close();
    layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
    };
  }, [opened]);
}

// An open list of choices handles the key itself.
function onKeyDown({ key, isComposing, target }: KeyboardEvent): void {
  if (key !== "Escape" || isComposing) return;
  if (target instanceof Element && target.getAttribute("data-mantine-stop-propagation") === "true") return;
  layers.at(-1)?.();
}

window.addEventListener("keydown", onKeyDown, { capture: true });
