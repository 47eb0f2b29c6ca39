import { otherMethods } from "../passed-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

otherMethods(moderationsEndpoint);
