import { Modal as MantineModal, type ModalProps } from "@mantine/core";
import { useEscape } from "./use-escape.ts";

/** A dialog in the middle of the page. */
export function Modal({ closeOnEscape = true, ...rest }: ModalProps) {
  useEscape(rest.opened, closeOnEscape ? rest.onClose : null);
  return <MantineModal {...rest} closeOnEscape={false} />;
}
