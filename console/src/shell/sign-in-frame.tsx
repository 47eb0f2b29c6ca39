import { UnstyledButton } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "../language/areas/shell.ts";
import { language, languages, showIn } from "../language/index.ts";
import mark from "../mark.svg";

/** The minimal page around sign-in, setup and invitations: the logo and one card, without navigation. */
export function SignInFrame({ children }: { readonly children: ReactNode }) {
  return (
    <div className="sign-in-frame">
      <header className="sign-in-brand">
        <img src={mark} alt="" width={36} height={36} />
        <span>{t("shell.brand")}</span>
      </header>
      <main id="content" className="sign-in-main">
        {children}
      </main>
      <footer className="sign-in-languages">
        {languages.map(({ id, name }) => (
          <UnstyledButton
            key={id}
            lang={id}
            className="text-link"
            aria-current={id === language ? "true" : undefined}
            onClick={() => showIn(id)}
          >
            {name}
          </UnstyledButton>
        ))}
      </footer>
    </div>
  );
}
