import { otherMethods } from "../passed-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

otherMethods(translationsEndpoint);
