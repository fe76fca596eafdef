// SQLite's locks as locks of an open file instead of the process. Private to core/store.
#pragma once

#include <fcntl.h>

#include "core/store_export.h"

namespace vitrine::store {

/// Makes SQLite lock files with F_OFD_SETLK instead of F_SETLK, in all connections of this process
/// that are opened later. Called by every Database; does its work once.
///
/// A lock of F_SETLK belongs to the process, which loses it when it closes any descriptor of that
/// file. A file dialog that reads the first bytes of a database to find its type does so. Another
/// program then believes that the database is not open, and deletes its log. A lock of F_OFD_SETLK
/// belongs to the open file and stays until SQLite gives it back. Both kinds exclude each other, so
/// that other programs need not know. Where the kernel has no such locks, nothing changes.
void keepLocksWithOpenFiles();

/// The function that SQLite calls instead of fcntl().
VITRINE_STORE_EXPORT int lockOpenFile(int descriptor, int command, ...);

}  // namespace vitrine::store
