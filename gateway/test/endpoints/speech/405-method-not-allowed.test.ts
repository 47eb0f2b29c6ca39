import { otherMethods } from "../passed-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

otherMethods(speechEndpoint);
