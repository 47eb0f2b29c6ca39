import { useBlocker } from "@tanstack/react-router";
import { createContext, type ReactNode, type SyntheticEvent, useContext, useRef, useState } from "react";
import { LeaveDialog } from "./leave-dialog.tsx";
import { leaves } from "./leaves.ts";
import { useOpenForm } from "./open-form.ts";

interface UnsavedInputOptions {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** false: its input is never worth keeping. */
  readonly asks: boolean;
  /** The form was refused, so its input is still unsaved. */
  readonly failed: boolean;
  /** URL parameters that show the form: a change of one replaces it. */
  readonly openedBy?: readonly string[];
}

interface UnsavedInput {
  /** Closes at once, or asks first. */
  readonly close: () => void;
  /** Handlers of the element around the form. */
  readonly handlers: {
    readonly onChangeCapture: (event: SyntheticEvent) => void;
    readonly onClickCapture: (event: SyntheticEvent) => void;
    readonly onSubmitCapture: () => void;
  };
  readonly guard: ReactNode;
}

/**
 * Asks before a drawer or dialog with a changed form closes or the page is left. A change is an event of a field in the form, so that no
 * form has to report it. A form that was replaced by its result has nothing to lose.
 */
export function useUnsavedInput({ opened, onClose, asks, failed, openedBy = [] }: UnsavedInputOptions): UnsavedInput {
  const root = useRef<Element | null>(null);
  const [touched, setTouched] = useState(false);
  const [sent, setSent] = useState(false);
  const [closing, setClosing] = useState(false);
  if (!opened && (touched || sent || closing)) {
    setTouched(false);
    setSent(false);
    setClosing(false);
  }
  useOpenForm(opened && touched);
  const holds = () =>
    asks && touched && root.current?.isConnected === true && root.current.querySelector("form") !== null;
  const touch = ({ target, currentTarget }: SyntheticEvent, isInput: (target: Element, root: Element) => boolean) => {
    if (!(target instanceof Element) || !(currentTarget instanceof Element)) return;
    root.current = currentTarget;
    if (!isInput(target, currentTarget)) return;
    setTouched(true);
    setSent(false);
  };
  return {
    close: () => (holds() ? setClosing(true) : onClose()),
    handlers: {
      onChangeCapture: (event) => touch(event, isFieldOfForm),
      onClickCapture: (event) => touch(event, isOptionOfForm),
      onSubmitCapture: () => setSent(true),
    },
    guard: opened && asks && (
      <InputGuard
        isUnsaved={() => holds() && (failed || !sent)}
        openedBy={openedBy}
        closing={closing}
        onStay={() => setClosing(false)}
        onLeave={() => {
          setClosing(false);
          root.current = null;
          onClose();
        }}
      />
    ),
  };
}

/** A field of this form: no search box outside it, and no field of a dialog above it. */
function isFieldOfForm(target: Element, root: Element): boolean {
  return "form" in target && target.form !== null && root.contains(target);
}

/** The list of a select is outside the form in the document. */
function isOptionOfForm(target: Element, root: Element): boolean {
  return target.closest('[role="option"]') !== null && root.querySelector("form") !== null;
}

interface InputGuardProps {
  readonly isUnsaved: () => boolean;
  readonly openedBy: readonly string[];
  readonly closing: boolean;
  readonly onStay: () => void;
  readonly onLeave: () => void;
}

function InputGuard({ isUnsaved, openedBy, closing, onStay, onLeave }: InputGuardProps) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved() && leaves(current, next, openedBy),
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  const blocked = status === "blocked";
  return (
    <LeaveDialog
      opened={blocked || closing}
      onStay={() => (blocked ? reset?.() : onStay())}
      onLeave={() => (blocked ? proceed?.() : onLeave())}
    />
  );
}

const CloseContext = createContext<(() => void) | null>(null);
export const CloseProvider = CloseContext.Provider;

/** Closes the drawer or dialog around it, after asking if its form has input. */
export function useClose(): () => void {
  const close = useContext(CloseContext);
  if (close === null) throw new Error("There is no drawer or dialog around this.");
  return close;
}
