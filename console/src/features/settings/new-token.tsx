import { type ReactNode, useState } from "react";
import { SecretOnce } from "../../components/secret-once.tsx";
import { useUrlText } from "../../routes/search.ts";
import type { CreatedToken, TokenFormHandlers } from "./token-form.tsx";

interface NewTokenProps {
  /** The URL value that opens the form. */
  readonly kind: "token" | "scim";
  readonly form: (handlers: TokenFormHandlers) => ReactNode;
  readonly title: (name: string) => string;
  /** Content below the secret. */
  readonly children: (made: CreatedToken | null) => ReactNode;
}

/** The form of a new token, opened by the URL, and then its secret. */
export function NewToken({ kind, form, title, children }: NewTokenProps) {
  const [create, setCreate] = useUrlText("create");
  const [created, setCreated] = useState<CreatedToken | null>(null);
  const close = () => setCreate("");
  const onCreated = (made: CreatedToken) => {
    close();
    setCreated(made);
  };
  return (
    <>
      {create === kind && form({ onClose: close, onCreated })}
      <SecretOnce
        secret={created?.secret ?? null}
        title={title(created?.token.name ?? "")}
        onClose={() => setCreated(null)}
      >
        {children(created)}
      </SecretOnce>
    </>
  );
}
