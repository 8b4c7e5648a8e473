// What a shared library of Keramos shows to those who link it, also where symbols are hidden by default
// (-fvisibility=hidden): functions that are compiled in the library, and types of exceptions, which are caught by
// their type's address.
#pragma once

#define KERAMOS_EXPORT __attribute__((visibility("default")))
