import type { SessionAnswer } from "@sluice/contract";
import { useEffect } from "react";
import mark from "../mark.svg";
import { accentRules } from "./accent.ts";

type BrandAnswer = SessionAnswer["brand"];

/** Applies the accent color and the icon of the page. Built style sheets are allowed by the content policy, style texts are not. */
export function useBrand(brand: BrandAnswer | undefined): void {
  const accent = brand?.accent ?? "";
  const logo = brand?.logo ?? "";
  useEffect(() => {
    if (accent === "") return undefined;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(accentRules(accent));
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    return () => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
    };
  }, [accent]);
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (icon === null || logo === "") return undefined;
    const { href, type } = icon;
    icon.type = "image/png";
    icon.href = logo;
    return () => {
      icon.type = type;
      icon.href = href;
    };
  }, [logo]);
}

/** The URL of the logo. */
export function logoOf({ logo }: BrandAnswer): string {
  return logo === "" ? mark : logo;
}
