import { Modal as MantineModal, type ModalProps as MantineModalProps } from "@mantine/core";
import { useEscape } from "./use-escape.ts";
import { CloseProvider, useUnsavedInput } from "./use-unsaved-input.tsx";

interface ModalProps extends MantineModalProps {
  /** false: closes without asking, even if its form has input. */
  readonly asks?: boolean;
  /** The form was refused, so its input is still unsaved. */
  readonly failed?: boolean;
}

/** A dialog in the middle of the page. */
export function Modal({ closeOnEscape = true, asks = true, failed = false, children, ...rest }: ModalProps) {
  const { close, handlers, guard } = useUnsavedInput({ opened: rest.opened, onClose: rest.onClose, asks, failed });
  useEscape(rest.opened, closeOnEscape ? close : null);
  return (
    <>
      <MantineModal {...rest} {...handlers} onClose={close} closeOnEscape={false}>
        <CloseProvider value={close}>{children}</CloseProvider>
      </MantineModal>
      {guard}
    </>
  );
}
