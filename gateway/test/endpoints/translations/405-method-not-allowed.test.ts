import { otherMethods } from "../forwarding-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

otherMethods(translationsEndpoint);
